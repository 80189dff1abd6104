/** Loads the styles of the pages of domains. */

import href from "./domains.css" with { type: "file" };
import { loadStyles } from "../../ui/style-sheet.ts";

loadStyles(href);
