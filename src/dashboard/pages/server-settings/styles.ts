/** Loads the styles of the page of the server's settings. */

import href from "./server-settings.css" with { type: "file" };
import { loadStyles } from "../../ui/style-sheet.ts";

loadStyles(href);
