/** Pins the mode. The bracket form: the dotted one is replaced while bundling. */
process.env["NODE_ENV"] ||= "production";
