/** Saves a file that the page has made. */
export function saveFile(parts: readonly BlobPart[], name: string, type = "text/csv"): void {
  const url = URL.createObjectURL(new Blob([...parts], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
