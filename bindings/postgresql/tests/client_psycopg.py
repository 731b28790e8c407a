"""client_psycopg.py - psycopg 3, which states the type of integers but not of
strings, asks for the members of two filters:

    python3 client_psycopg.py SOCKET_FOLDER USER DATABASE
"""
import sys

import psycopg


def found(connection, query, values):
    return sum(connection.execute(query, (value,)).fetchone()[0]
               for value in values)


def error(connection, query, value):
    try:
        return found(connection, query, [value])
    except psycopg.Error as refused:
        connection.rollback()
        return refused.sqlstate


host, user, database = sys.argv[1:]
ids = range(1, 1001)
number = "SELECT number @> %s FROM clients"
text = "SELECT text @> %s FROM clients"
with psycopg.connect(host=host, user=user, dbname=database) as connection:
    print("integers", found(connection, number, ids))
    print("numbers", found(connection, number, map(str, ids)))
    print("texts", found(connection, text, map(str, ids)))
    print("error", error(connection, number, "seven"))
    print("error", error(connection, text, 7))
