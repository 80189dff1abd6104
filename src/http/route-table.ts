/**
 * Finds which route a path names, whatever its method: a literal segment wins over a parameter, and
 * a parameter over a wildcard. The routers look for one method only, so they would take
 * `GET /contacts/bulk` for the contact with the id "bulk" because only POST has that literal route.
 */

export type Route = { method: string; path: string };

export type RouteTable = {
  /** Methods of the route that `path` names, as in an Allow header; null: there is no route. */
  methodsAt(path: string): readonly string[] | null;
};

type Node = {
  literals: Map<string, Node>;
  parameter: Node | null;
  /** Of a pattern that ends here. */
  methods: string[] | null;
  /** Of a pattern that ends in `*` here. */
  wildcardMethods: string[] | null;
};

/** Paths are those of `routePath`: without a trailing slash. */
export function createRouteTable(routes: readonly Route[]): RouteTable {
  const root = newNode();
  const literalRoutes = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const methods = methodsOfPattern(root, path);
    // A route that answers GET answers HEAD (RFC 9110 §9.3.2).
    methods.push(...(method === "GET" ? ["GET", "HEAD"] : [method]));
    if (!/[:*]/.test(path)) literalRoutes.set(path, methods);
  }
  return {
    methodsAt: (path) => literalRoutes.get(path) ?? find(root, path.split("/"), 1),
  };
}

function newNode(): Node {
  return { literals: new Map(), parameter: null, methods: null, wildcardMethods: null };
}

/** The list that collects the methods of one pattern. */
function methodsOfPattern(root: Node, pattern: string): string[] {
  let node = root;
  for (const segment of pattern.split("/").slice(1)) {
    if (segment === "*") return (node.wildcardMethods ??= []);
    node = segment.startsWith(":") ? (node.parameter ??= newNode()) : literalChild(node, segment);
  }
  return (node.methods ??= []);
}

function literalChild(node: Node, segment: string): Node {
  const child = node.literals.get(segment) ?? newNode();
  node.literals.set(segment, child);
  return child;
}

/** `segments` from `index` on are below `node`. No pattern is deep, so neither is the recursion. */
function find(node: Node, segments: readonly string[], index: number): string[] | null {
  const segment = segments[index];
  if (segment === undefined) return node.methods;
  const { parameter, wildcardMethods } = node;
  const literal = node.literals.get(segment);
  const found = literal === undefined ? null : find(literal, segments, index + 1);
  if (found !== null || segment === "" || parameter === null) return found ?? wildcardMethods;
  return find(parameter, segments, index + 1) ?? wildcardMethods;
}
