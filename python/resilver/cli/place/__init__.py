"""`resilver place`: where things go, how good that is, and what a change would move."""
