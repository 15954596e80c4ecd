"""A torus of 192 nodes with one module of routers, by which a whole file is easily counted."""

SMALL_MACHINE = """
torus = [6, 4, 4]
nodes = 2
[routers]
networks = [10, 20]
groups = [["x0y0z0", "x3y2z2"]]
[fine_grained]
zone = 1
window = [-1, 0]
"""

STORED = (
    SMALL_MACHINE
    + """
[storage]
blocks = 2
servers = 2
targets = 3
network = 10
[rates]
x = "1 GB/s"
y = ["1 GB/s", "500 MB/s"]
router = "600 MB/s"
server = "2 GB/s"
target = "200 MB/s"
source = "of this test"
"""
).replace("networks = [10, 20]", "networks = [10, 11]")
"""The same with storage and rates, whose two networks are both reached."""
