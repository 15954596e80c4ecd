"""What a failure, an expansion or any other change does to a real Ceph cluster, before it happens.

A plan (`plan`) of changes and the settings (`settings`) that Ceph goes by make the input of the
core, whose tables are the answer (`answer`).
"""
