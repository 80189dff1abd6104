/** Loads the styles of the canvas: the basic ones of its library first, which ours complete. */

import libraryHref from "@xyflow/react/dist/base.css" with { type: "file" };
import href from "./canvas.css" with { type: "file" };
import { loadStyles } from "../../../ui/style-sheet.ts";

loadStyles(libraryHref);
loadStyles(href);
