/** Loads the styles of the tabs that try a workflow. */

import href from "./simulation.css" with { type: "file" };
import { loadStyles } from "../../../ui/style-sheet.ts";

loadStyles(href);
