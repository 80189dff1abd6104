/** Loads the styles of received mail. */

import href from "./received.css" with { type: "file" };
import { loadStyles } from "../../ui/style-sheet.ts";

loadStyles(href);
