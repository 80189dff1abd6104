/** Loads the styles of the pages of campaigns. */

import href from "./campaigns.css" with { type: "file" };
import { loadStyles } from "../../ui/style-sheet.ts";

loadStyles(href);
