/** Files that the bundler resolves. */
declare module "*.css";
