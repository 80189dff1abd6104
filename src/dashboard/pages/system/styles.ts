/** Loads the styles of the page about the system. */

import href from "./system.css" with { type: "file" };
import { loadStyles } from "../../ui/style-sheet.ts";

loadStyles(href);
