/** Signs a user of the demonstration project in, as the page for it does. */

export type SessionCookie = { name: string; value: string };

export async function signIn(
  base: string,
  email: string,
  password: string,
): Promise<SessionCookie> {
  const response = await fetch(`${base}/app/api/login`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      origin: base,
      "x-requested-with": "mailstead",
    },
    body: JSON.stringify({ email, password }),
  });
  const header = response.headers.get("set-cookie") ?? "";
  const [, name = "", value = ""] = /^([^=]+)=([^;]+)/.exec(header) ?? [];
  if (!response.ok || value === "") throw new Error(`the sign-in failed: ${response.status}`);
  return { name, value };
}
