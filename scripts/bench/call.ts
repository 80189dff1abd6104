/** Sends requests with an API key to a measured server and returns the responses unread. */

type Post = { method: "POST"; headers?: Record<string, string>; body: FormData | string };
export type Call = (path: string, post?: Post) => Promise<Response>;

export function createCall({ port }: { port: number }, key: string): Call {
  const authorization = `Bearer ${key}`;
  return (path, post) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      ...post,
      headers: { authorization, ...post?.headers },
    });
}
