/** Loads the styles of the page of a draft campaign. */

import href from "./composer.css" with { type: "file" };
import { loadStyles } from "../../../ui/style-sheet.ts";

loadStyles(href);
