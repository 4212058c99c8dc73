"""The canonical bytes of a connectome, written from docs/connectome-canonical.md alone.

Reads one JSON object a line, {"graph": .., "algorithm": .., "digest": ..}, and prints how many digests it
confirms; ends with the first that it does not.
"""

import hashlib
import json
import sys
import unicodedata

SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def main():
    confirmed = 0
    for line in sys.stdin.buffer:
        case = json.loads(line)
        found = hashlib.new(case["algorithm"], graph(case["graph"], case["algorithm"])).hexdigest()
        if found != case["digest"]:
            sys.exit(f"{case['digest']} is {found} here: {line.decode()}")
        confirmed += 1
    print(confirmed)


def graph(source, algorithm):
    version = source["schema_version"]
    head = f'{{"schema_version":{version}'
    if version >= 3:
        head += f',"algorithm":"{algorithm}"'
    nodes = sorted(source["nodes"], key=lambda node: nfc(node["id"]).encode())
    edges = sorted(source["edges"], key=identity)
    nodes, edges = ",".join(map(node_text, nodes)), ",".join(map(edge_text, edges))
    return f'{head},"nodes":[{nodes}],"edges":[{edges}]}}'.encode()


def identity(edge):
    return [nfc(edge[field]).encode() for field in ("from", "to", "kind", "provenance")]


def node_text(node):
    return members(("id", node["id"]), ("kind", node["kind"]), ("labels", node["labels"]), ("level", node["level"]))


def edge_text(edge):
    return members(*((field, edge[field]) for field in ("from", "kind", "provenance", "sign", "to")))


def members(*pairs):
    return "{" + ",".join(f"{string(key)}:{value(member)}" for key, member in pairs) + "}"


def value(source):
    if isinstance(source, dict):
        normal = [(nfc(key), member) for key, member in source.items()]
        return members(*sorted(normal, key=lambda pair: pair[0].encode("utf-16-be")))
    if isinstance(source, list):
        return "[" + ",".join(map(value, source)) + "]"
    if isinstance(source, str):
        return string(source)
    if source is None:
        return "null"
    return str(source).lower() if isinstance(source, bool) else str(source)


def string(text):
    return '"' + "".join(map(character, nfc(text))) + '"'


def character(char):
    if char in SHORT:
        return SHORT[char]
    return f"\\u{ord(char):04x}" if char < " " else char


def nfc(text):
    return unicodedata.normalize("NFC", text)


if __name__ == "__main__":
    main()
