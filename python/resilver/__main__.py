"""`python -m resilver`: the command."""

from resilver.cli import main

main()
