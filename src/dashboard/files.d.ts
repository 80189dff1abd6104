/** Files that the bundler resolves. With the type "file", a style sheet is its address. */
declare module "*.css" {
  const href: string;
  export default href;
}
