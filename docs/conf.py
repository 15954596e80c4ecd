"""Sphinx settings. The build uses no network: no intersphinx, no web fonts, no badges."""

project = "resilver"
author = "the resilver authors"
project_copyright = "the resilver authors, Apache-2.0"

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# A how-to page hides the notes to its test in comments, and links to files of the checkout.
suppress_warnings = ["myst.xref_missing"]
exclude_patterns = ["_build"]
nitpicky = True

html_theme = "furo"
html_title = "resilver"
html_show_sphinx = False
html_copy_source = False
