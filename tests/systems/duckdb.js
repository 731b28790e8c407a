/* duckdb.js - DuckDB: makes a Parquet file whose columns have Bloom filters, or
 * finds the row groups in which values may be.
 *
 *      node duckdb.js make FILE
 *      node duckdb.js groups FILE COLUMN VALUE
 *
 * The file has 4 row groups with 500 different values each, and every value is
 * in one of them. `groups` prints the lines of standard input that may be in the
 * file, each after the numbers of its row groups, as `bloomery query --groups`
 * does. VALUE makes SQL of a line, X. npm has installed the package into the
 * current folder.
 */
"use strict";
const fs = require("node:fs");
const { createRequire } = require("node:module");
const { DuckDBInstance } =
    createRequire(`${process.cwd()}/`)("@duckdb/node-api");

const [, , job, path, column, sql] = process.argv;

const table = `
    SELECT 'user-' || v AS text, v::BIGINT * 1000003 AS big,
           v::INTEGER AS small, v::DOUBLE / 8 AS real, v::FLOAT / 8 AS float,
           DATE '2000-01-01' + v::INTEGER AS day
    FROM (SELECT i % 500 + i // 4096 * 10000 AS v FROM range(16384) r(i))`;

async function main() {
    const database = await DuckDBInstance.create(":memory:");
    const db = await database.connect();
    if (job === "make") {
        await db.run(`COPY (${table}) TO '${path}'
            (FORMAT parquet, ROW_GROUP_SIZE 4096)`);
        return;
    }
    for (const line of fs.readFileSync(0, "utf8").split("\n").slice(0, -1)) {
        const value = sql.replace("X", `'${line}'`);
        const answer = await db.runAndReadAll(
            `SELECT row_group_id FROM parquet_bloom_probe(
                '${path}', '${column}', ${value})
            WHERE NOT bloom_filter_excludes ORDER BY row_group_id`);
        const groups = answer.getRows().map(row => row[0]);
        if (groups.length > 0)
            console.log(`${groups.join(",")}\t${line}`);
    }
}

main().catch(error => {
    console.error(String(error));
    process.exit(2);
});
