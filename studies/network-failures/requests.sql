-- What became of the requests of each run, and what its network is called.
CREATE VIEW requests AS
WITH systems AS (
  SELECT *, system->'$.traffic' AS traffic, system->'$.cluster.device' AS device FROM results.runs
), disks AS (
  SELECT run, max(requests_read + requests_written) AS most,
    coalesce(sum(requests_lost) FILTER (requests_completed = 0), 0) AS lost_at_dead
  FROM servers GROUP BY run
)
SELECT run,
  coalesce(MAP {
    'butterfly 4^4 hosts 16': 'Butterfly',
    'fat tree 4096,128,64,32 up 1,32,64 routers at 1': 'Fat tree',
    'hypercube 12 routers 128': 'Hypercube',
    'mesh 64x64 routers 8 wiring corner_sides': 'Mesh 2D',
    'torus 64x64 routers 128': 'Torus 2D',
    'torus 16x16x16 routers 128': 'Torus 3D',
    'torus 8x8x8x8 routers 128': 'Torus 4D',
    'torus 4x8x4x8x4 routers 128': 'Torus 5D'
  }[system->>'$.cluster.fabric.topology.label'], system->>'$.cluster.fabric.topology.label') AS topology,
  -- At disks that complete nothing, and at all others.
  lost_at_dead AS requests_lost_at_dead_disks,
  requests_lost - lost_at_dead AS requests_lost_elsewhere,
  requests_completed / nullif(requests_completed + requests_lost, 0) AS requests_completed_fraction,
  requests_lost / nullif(requests_completed + requests_lost, 0) AS requests_lost_fraction,
  -- A disk ends at most one request more than its window has room for: the one it was at.
  most / (statistics_seconds / least((device->>'read_service')::DOUBLE, (device->>'write_service')::DOUBLE) + 1)
    AS disk_bound_fraction_max,
  -- Little's law, of a closed loop: of N requests outstanding each is waited for, or paused until it
  -- is issued, for half the interval in the mean. N = X (delay + interval / 2) at X completions a second.
  (traffic->>'outstanding')::DOUBLE * statistics_seconds / nullif(requests_completed, 0)
    - (traffic->>'interval')::DOUBLE / 2 AS little_delay_seconds
FROM systems JOIN disks USING (run);
