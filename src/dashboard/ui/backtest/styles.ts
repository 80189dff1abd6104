/** Loads the styles of backtests. */

import href from "./backtest.css" with { type: "file" };
import { loadStyles } from "../style-sheet.ts";

loadStyles(href);
