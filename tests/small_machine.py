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
