/** Sets the mode. The bracket form is needed, because bundling replaces `process.env.NODE_ENV`. */
process.env["NODE_ENV"] ||= "production";
