/* client.js - node-postgres, which states no type for its parameters, asks for
 * the members of two filters: node client.js SOCKET_FOLDER USER DATABASE. */
const { Client } = require("pg");

async function found(client, query, values) {
    let n = 0;
    for (const value of values)
        n += (await client.query(query, [value])).rows[0].found;
    return n;
}

async function main([host, user, database]) {
    const client = new Client({ host, user, database });
    const ids = Array.from({ length: 1000 }, (_, i) => i + 1);
    const number = "SELECT number @> $1 AS found FROM clients";
    await client.connect();
    console.log("numbers", await found(client, number, ids));
    console.log("texts", await found(
        client, "SELECT text @> $1 AS found FROM clients", ids.map(String)));
    await client.query(number, ["seven"]).catch(
        (error) => console.log("error", error.code));
    await client.end();
}

main(process.argv.slice(2));
