CREATE TABLE runs AS
SELECT *, "cluster.fabric.topology" AS topology, "cluster.fabric.packet_size" AS packet
FROM results.runs;
