/** Requests to a server of a measurement, with a key. */

type Post = { method: "POST"; headers?: Record<string, string>; body: FormData | string };
export type Ask = (path: string, post?: Post) => Promise<Response>;

export function asker({ port }: { port: number }, key: string): Ask {
  const authorization = `Bearer ${key}`;
  return (path, post) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      ...post,
      headers: { authorization, ...post?.headers },
    });
}
