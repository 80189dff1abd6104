/**
 * Finds the route of a path independently of the method: a literal segment wins over a parameter,
 * and a parameter over a wildcard. The routers of the framework consider one method only, so they
 * would treat `GET /contacts/bulk` as the contact with the id "bulk", because only POST has that
 * literal route.
 */

export type Route = { method: string; path: string };

type RouteTable = {
  /** The methods of the route of `path`, as in an Allow header; null if there is no route. */
  methodsAt(path: string): readonly string[] | null;
};

type Node = {
  literals: Map<string, Node>;
  parameter: Node | null;
  /** Methods of the pattern that ends at this node; null if there is none. */
  methods: string[] | null;
  /** Methods of the pattern that ends at this node with `*`; null if there is none. */
  wildcardMethods: string[] | null;
};

/** Paths must have the spelling of `routePath`, without a trailing slash. */
export function createRouteTable(routes: readonly Route[]): RouteTable {
  const root = newNode();
  const literalRoutes = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const methods = methodsOfPattern(root, path);
    // A route that answers GET also answers HEAD (RFC 9110 §9.3.2). A WebSocket begins with GET.
    methods.push(...(method === "GET" ? ["GET", "HEAD"] : [method === "WS" ? "GET" : method]));
    if (!/[:*]/.test(path)) literalRoutes.set(path, methods);
  }
  return {
    methodsAt: (path) => literalRoutes.get(path) ?? find(root, path.split("/"), 1),
  };
}

function newNode(): Node {
  return { literals: new Map(), parameter: null, methods: null, wildcardMethods: null };
}

/** Returns the list that collects the methods of one pattern. */
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

/**
 * Matches the segments from `index` on below `node`. The recursion is as deep as the longest
 * pattern.
 */
function find(node: Node, segments: readonly string[], index: number): string[] | null {
  const segment = segments[index];
  if (segment === undefined) return node.methods;
  const { parameter, wildcardMethods } = node;
  const literal = node.literals.get(segment);
  const found = literal === undefined ? null : find(literal, segments, index + 1);
  if (found !== null || segment === "" || parameter === null) return found ?? wildcardMethods;
  return find(parameter, segments, index + 1) ?? wildcardMethods;
}
