-- A class c of requests is moved at r(c) = size / (head + size / rate) alone, and a mix at 1 / sum(share(c) / r(c)) by its shares of the bytes:
-- law by the shares of the study, drawn by those that the run's own draws came to.
CREATE TABLE runs AS
WITH disks AS (
  SELECT *, "traffic.engine" AS engine, system->'$.cluster.device' AS disk,
    (system->>'$.traffic.mix[0].share')::DOUBLE * 16384 / ((system->>'$.traffic.mix[0].share')::DOUBLE * 16384
      + (system->>'$.traffic.mix[1].share')::DOUBLE * 1048576) AS of_small, round(of_small, 6) AS share
  FROM results.runs
), alone AS (
  SELECT run, request_bytes, classes.read_bytes_per_second AS of_reads, classes.write_bytes_per_second AS of_writes,
    CASE class WHEN 0 THEN share ELSE 1 - share END AS of_class, classes.throughput_bytes_per_second AS moved,
    (disk->>'$.read_seek[0]')::DOUBLE / request_bytes + 1 / (disk->>'$.read_rate')::DOUBLE AS to_read,
    (disk->>'$.write_seek[0]')::DOUBLE / request_bytes + 1 / (disk->>'$.write_rate')::DOUBLE AS to_write
  FROM request_classes AS classes JOIN disks USING (run)
), mixed AS (
  SELECT run, 1 / sum(of_class * (0.4 * to_read + 0.6 * to_write)) AS law,
    sum(moved) / sum(of_reads * to_read + of_writes * to_write) AS drawn
  FROM alone GROUP BY run
)
SELECT *, throughput_bytes_per_second AS rate,
  max(throughput_bytes_per_second) FILTER (engine = 'events') OVER (PARTITION BY share) AS by_events
FROM disks JOIN mixed USING (run);
