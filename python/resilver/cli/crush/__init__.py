"""`resilver crush`: CRUSH maps, in crushtool's words and its bytes."""
