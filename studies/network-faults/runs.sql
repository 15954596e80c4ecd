CREATE TABLE runs AS FROM results.runs JOIN requests USING (run) ORDER BY results.runs.rowid;

-- Each network without faults: medians over the seeds.
CREATE VIEW healthy AS
SELECT topology, median(throughput_bytes_per_second) AS throughput_bytes_per_second,
  median(packets_queued_fraction) AS packets_queued_fraction,
  median(link_busy_fraction) AS link_busy_fraction
FROM runs WHERE faults = 'none' GROUP BY topology;

-- Each run with faults over that of the same network and seed without.
CREATE TABLE changes AS
SELECT faulty.topology, faulty.faults,
  faulty.mean_hops / healthy.mean_hops AS mean_hops,
  faulty.mean_delay_seconds / healthy.mean_delay_seconds AS mean_delay_seconds,
  faulty.little_delay_seconds / healthy.little_delay_seconds AS little_delay_seconds,
  faulty.packets_queued_fraction / nullif(healthy.packets_queued_fraction, 0) AS packets_queued_fraction,
  faulty.throughput_bytes_per_second / nullif(healthy.throughput_bytes_per_second, 0)
    AS throughput_bytes_per_second,
  faulty.device_busy_fraction / nullif(healthy.device_busy_fraction, 0) AS device_busy_fraction
FROM runs AS faulty JOIN runs AS healthy
  ON faulty.topology = healthy.topology AND faulty.seed = healthy.seed
WHERE healthy.faults = 'none' AND faulty.faults <> 'none' ORDER BY faulty.rowid;

-- The same in the median over the seeds.
CREATE VIEW change AS
SELECT topology, faults, median(COLUMNS(* EXCLUDE (topology, faults))) AS '\0' FROM changes GROUP BY ALL;
