/** The parameters with these names that are texts and not empty. Others are left out. */
export function textsOf<const Key extends string>(
  given: Readonly<Record<string, unknown>>,
  keys: readonly Key[],
): { [Name in Key]?: string } {
  const texts: { [Name in Key]?: string } = {};
  for (const key of keys) {
    const value = given[key];
    if (typeof value === "string" && value !== "") texts[key] = value;
  }
  return texts;
}
