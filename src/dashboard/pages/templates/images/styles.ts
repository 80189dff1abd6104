/** Loads the styles of the page of images. */

import href from "./images.css" with { type: "file" };
import { loadStyles } from "../../../ui/style-sheet.ts";

loadStyles(href);
