"""The canonical bytes of connectomes, written from docs/connectome-canonical.md and docs/connectome-federation.md alone.

Reads one JSON object a line, {"graph": .., "algorithm": .., "digest": ..} or the same with {"parts": [[member, graph], ..]},
and prints how many digests it confirms; ends with the first that it does not.
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
        algorithm = case["algorithm"]
        held = graph(case["graph"], algorithm) if "graph" in case else federation(case["parts"], algorithm)
        found = digest(held, algorithm)
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


def digest(held, algorithm):
    return hashlib.new(algorithm, held).hexdigest()


def federation(parts, algorithm):
    parts = sorted((part(nfc(member), source, algorithm) for member, source in parts), key=part_order)
    nodes, edges = [], []
    for at, (member, _, source) in enumerate(parts):
        scope = member.replace("%", "%25").replace("/", "%2F") + "/"
        nodes += [{**node, "id": scope + nfc(node["id"]), "part": at} for node in source["nodes"]]
        edges += [
            {**edge, "from": scope + nfc(edge["from"]), "to": scope + nfc(edge["to"]), "part": at}
            for edge in source["edges"]
        ]
    nodes.sort(key=lambda node: (node["id"].encode(), node["part"]))
    edges.sort(key=lambda edge: (identity(edge), edge["part"]))
    sources = [source for _, _, source in parts]
    conflicts = {"edges": sign_conflicts(sources), "nodes": node_conflicts(sources)}
    head = f'{{"schema_version":4,"algorithm":"{algorithm}"'
    body = {"parts": [about for _, about, _ in parts], "nodes": nodes, "edges": edges, "conflicts": conflicts}
    return f"{head},{','.join(f'{string(name)}:{value(body[name])}' for name in body)}}}".encode()


def part(member, source, algorithm):
    version = source["schema_version"]
    algorithm = algorithm if version >= 3 else "sha256"
    own = digest(graph(source, algorithm), algorithm)
    return member, {"algorithm": algorithm, "digest": own, "member": member, "schema_version": version}, source


def part_order(part):
    member, about, _ = part
    return member.encode(), about["digest"]


def sign_conflicts(sources):
    said = {}
    for at, source in enumerate(sources):
        neutral = "unknown" if source["schema_version"] == 1 else "unset"
        for edge in sorted(source["edges"], key=identity):
            if edge["sign"] != neutral:
                label = nfc(edge["from"]), nfc(edge["to"]), edge["kind"]
                claim = {"part": at, "provenance": edge["provenance"], "sign": edge["sign"]}
                said.setdefault(label, []).append(claim)
    return [
        {"from": label[0], "to": label[1], "kind": label[2], "claims": claims}
        for label, claims in sorted(said.items(), key=lambda item: [text.encode() for text in item[0]])
        if len({claim["sign"] for claim in claims}) > 1
    ]


def node_conflicts(sources):
    said = {}
    for at, source in enumerate(sources):
        for node in source["nodes"]:
            labels = [("label", nfc(key), member) for key, member in node["labels"].items()]
            for field, key, claimed in [("kind", "", node["kind"]), ("level", "", node["level"]), *labels]:
                said.setdefault((nfc(node["id"]), field, key), []).append({"part": at, "value": claimed})
    return [
        {"id": about[0], "field": about[1], "claims": claims, **({"label": about[2]} if about[1] == "label" else {})}
        for about, claims in sorted(said.items(), key=lambda item: [text.encode() for text in item[0]])
        if len({value(claim["value"]) for claim in claims}) > 1
    ]


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
