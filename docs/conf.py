"""Sphinx settings. The build uses no network: no intersphinx, no web fonts, no badges."""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS.parent / "python")]

project = "resilver"
author = "the resilver authors"
project_copyright = "the resilver authors, Apache-2.0"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "entries"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# A how-to page hides the notes to its test in comments, and links to files of the checkout. Several
# classes have attributes of one name.
suppress_warnings = ["myst.xref_missing", "ref.python"]
exclude_patterns = ["_build", "decisions"]
nitpicky = True
# Types of other packages are not documented here.
nitpick_ignore_regex = [("py:.*", ".*")]
autodoc_member_order = "bysource"
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = "resilver"
html_show_sphinx = False
html_copy_source = False
