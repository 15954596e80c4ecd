CREATE TABLE runs AS
SELECT *,
  coalesce(
    MAP {'12': '12 spines, 1:1', '6': '6 spines, 2:1', '3': '3 spines, 4:1'}
      [system->>'$.cluster.fabric.topology.spines'], system->>'$.cluster.fabric.topology.label') AS network,
  CASE system->>'$.traffic.outstanding' WHEN '1' THEN 'one request at a time'
    ELSE system->>'$.traffic.outstanding' || ' requests at a time' END AS clients,
  CASE WHEN faults LIKE '%8 links%' THEN 'and 8 links' WHEN faults LIKE '%1 link%' THEN 'and 1 link'
    WHEN faults LIKE '%switch.4%' THEN 'and a spine' ELSE 'a server alone' END AS fails
FROM results.runs;

-- Each run over that of the same network, clients and seed with a failed server alone: medians over the seeds.
CREATE VIEW change AS
SELECT network, clients, more.fails, median(more.rebuild_seconds / alone.rebuild_seconds) AS rebuild_seconds
FROM runs AS more JOIN runs AS alone USING (network, clients, seed)
WHERE alone.fails = 'a server alone' AND more.fails <> 'a server alone' GROUP BY ALL;
