/** Files that are embedded in the executable. The import is the text of the file. */
declare module "*.pub" {
  const text: string;
  export default text;
}
