"""Reproductions: the studies that ship, with ours beside every published number.

>>> from resilver.reproduce import entry
>>> entry("rebuild-ring").figures
('Figure 14',)
"""

from resilver.reproduce.answering import reproduction_answer
from resilver.reproduce.compare import Comparison, compare
from resilver.reproduce.entries import Entry, entry, names
from resilver.reproduce.evidence import Wishes
from resilver.reproduce.make import Part, Reproduction, chosen, reproduce
from resilver.reproduce.published import Conclusion, Published
