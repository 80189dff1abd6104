/** Composes SQL text together with its bound values, so that a value never becomes SQL text. */

export type Bound = string | number | bigint;

export type Fragment = { readonly text: string; readonly values: readonly Bound[] };

/** Template tag: an inserted fragment becomes part of the text, any other value becomes a `?`. */
export function bind(
  parts: TemplateStringsArray,
  ...inserted: readonly (Fragment | Bound)[]
): Fragment {
  let text = parts[0] ?? "";
  const values: Bound[] = [];
  inserted.forEach((piece, i) => {
    const fragment = typeof piece === "object" ? piece : { text: "?", values: [piece] };
    text += fragment.text + (parts[i + 1] ?? "");
    values.push(...fragment.values);
  });
  return { text, values };
}

export function allOf(fragments: readonly Fragment[]): Fragment {
  return fragments.length === 0 ? bind`1` : join(fragments, " AND ");
}

export function anyOf(fragments: readonly Fragment[]): Fragment {
  return fragments.length === 0 ? bind`0` : join(fragments, " OR ");
}

function join(fragments: readonly Fragment[], between: " AND " | " OR "): Fragment {
  return {
    text: `(${fragments.map(({ text }) => text).join(between)})`,
    values: fragments.flatMap(({ values }) => values),
  };
}
