"""`resilver calibrate`: models fitted to measurements."""
