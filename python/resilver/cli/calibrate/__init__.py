"""`resilver calibrate`: the models of disks, networks and coding fitted to measurements."""
