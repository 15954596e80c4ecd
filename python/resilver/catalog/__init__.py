"""The devices, networks, populations and coding speeds that ship, each with its source.

>>> from resilver import catalog
>>> catalog.list("devices")[:3]
['cheetah-15k', 'hdd-7k2-12tb', 'hdd-7k2-16tb']
>>> catalog.load("populations", "genomes1000").description
'Files like those of the 1000 Genomes project: few, large, mean 64 MiB chunk 61.05 MiB.'
"""

from __future__ import annotations

from resilver.catalog.entries import KINDS, CatalogEntry, load, read_data
from resilver.catalog.entries import names as list
from resilver.catalog.failing import FailureEntry, failure, failure_names

__all__ = [
    "KINDS",
    "CatalogEntry",
    "FailureEntry",
    "failure",
    "failure_names",
    "list",
    "load",
    "read_data",
]
