/** The unit, which the bundler includes as text. */
declare module "*.service" {
  const text: string;
  export default text;
}
