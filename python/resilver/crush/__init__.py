"""CRUSH maps without the rest: read, edited, written, placed by, compared and balanced.

>>> from resilver.crush import CrushMap, Osds, Pool, compare, group_sets
>>> before = CrushMap.build(8, [("host", "straw2", 2), ("root", "straw2", 0)])
>>> after = before.reweighted("osd.7", 0.0)
>>> pool = Pool(1, "rbd", pg_num=64, pgp_num=64, size=3, rule_id=0)
>>> old, new = (group_sets(one, pool, Osds.all_in(8)).up for one in (before, after))
>>> moves = compare(old, new)
>>> bool(moves.moved >= moves.levels[0].lost[7] > 0)
True
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
