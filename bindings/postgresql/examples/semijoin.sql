-- semijoin.sql - a semi-join of a large table with a small one, by a filter.
--
-- The orders of a day refer to 300 of 100,000 products in a warehouse. A filter of
-- these 300 drops nearly all rows of the warehouse before the join. The join drops
-- the false positives, so the result is exact. A line that begins with "-->" is a
-- row of the result.
--
--   psql -f semijoin.sql -d DATABASE
CREATE EXTENSION IF NOT EXISTS bloomery;

CREATE TABLE warehouse AS
    SELECT 'product ' || i AS product, i % 100 AS shelf
    FROM generate_series(1, 100000) i;
CREATE TABLE orders AS
    SELECT i AS id, 'product ' || (i % 300) * 7 + 1 AS product
    FROM generate_series(1, 3000) i;
ANALYZE warehouse, orders;

-- The filter is in a materialised view, so it can be read without the orders.
CREATE MATERIALIZED VIEW ordered AS
    SELECT bloomery_build(product, 'blocked', 0.001) AS products FROM orders;

-- Rows of the warehouse that the filter keeps: 300, and about 100 false positives.
SELECT count(*) BETWEEN 300 AND 600 AS few
FROM warehouse WHERE (SELECT products FROM ordered) @> product;
--> t

-- The semi-join: shelves to visit. The result is the same without the filter.
CREATE VIEW shelves AS
    SELECT w.shelf, count(*) AS products FROM warehouse w
    WHERE (SELECT products FROM ordered) @> w.product
        AND EXISTS (SELECT FROM orders o WHERE o.product = w.product)
    GROUP BY w.shelf;
SELECT count(*), sum(products) FROM shelves;
--> 100|300
SELECT count(*) FROM (
    SELECT w.shelf, count(*) FROM warehouse w
    WHERE w.product IN (SELECT product FROM orders) GROUP BY w.shelf
    EXCEPT SELECT * FROM shelves) different;
--> 0

-- The anti-join: products that nobody ordered. NOT @> is certain, so the rows that
-- it finds need no join. It misses about one product in a thousand.
SELECT count(*) BETWEEN 99400 AND 99700 AS nearly_all
FROM warehouse WHERE NOT (SELECT products FROM ordered) @> product;
--> t

-- More orders: the filter does not change until the view is refreshed.
INSERT INTO orders VALUES (3001, 'product 99999');
SELECT products @> 'product 99999' FROM ordered;
--> f
REFRESH MATERIALIZED VIEW ordered;
SELECT products @> 'product 99999' FROM ordered;
--> t
