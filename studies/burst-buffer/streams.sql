-- What streams and groups of servers got, over what the analytic model gives them: a row a run.
CREATE VIEW streams AS
WITH systems AS (
  SELECT *, (system->>'$.cluster.ports')::INT AS ports,
    coalesce((system->>'$.lanes.shares[0]')::DOUBLE, 1.0) AS clients
  FROM results.runs
), of_groups AS (
  SELECT run, count(*) AS groups, count(*) FILTER (is_rebuilding) AS busy,
    min(g.read_bytes_per_second) AS read_least, min(ports_working / (ports * g.servers)) AS ports_least,
    favg(g.read_bytes_per_second) FILTER (is_rebuilding) AS read_busy,
    favg(g.write_bytes_per_second) FILTER (is_rebuilding) AS write_busy
  FROM stripe_groups AS g JOIN systems USING (run) GROUP BY run
), resting AS (
  -- The model's sum is (G - r + r s) q for G groups of which r rebuild, a group at rest at rate q
  -- and a share s for clients: this is q.
  SELECT *, nullif(analytic_read_bytes_per_second, 0) / (groups - busy + busy * clients) AS read_at_rest,
    nullif(analytic_write_bytes_per_second, 0) / (groups - busy + busy * clients) AS write_at_rest
  FROM systems LEFT JOIN of_groups USING (run)
)
SELECT run,
  read_bytes_per_second / nullif(analytic_read_bytes_per_second, 0) AS read_of_analytic,
  write_bytes_per_second / nullif(analytic_write_bytes_per_second, 0) AS write_of_analytic,
  rebuild_bytes_per_second / nullif(analytic_rebuild_bytes_per_second, 0) AS rebuild_of_analytic,
  -- Of the groups that rebuild: over a group at rest, and over what their share leaves of it.
  read_busy / read_at_rest AS read_share_rebuilding,
  read_busy / (read_at_rest * clients) AS read_of_analytic_rebuilding,
  write_busy / (write_at_rest * clients) AS write_of_analytic_rebuilding,
  -- Of the group that has the least; over its part of the model where none rebuilds.
  read_least AS read_least_group_bytes_per_second,
  ports_least AS group_ports_working_least_share,
  CASE WHEN busy = 0 THEN read_least * groups / nullif(analytic_read_bytes_per_second, 0) END
    AS read_least_group_of_analytic
FROM resting;
