CREATE TABLE runs AS
SELECT *, "cluster.fabric.routers" AS clients, throughput_bytes_per_second AS rate, least("cluster.fabric.routers" * 53e6, 320e9) AS closed_form
FROM results.runs;
