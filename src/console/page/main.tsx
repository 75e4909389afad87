/** Starts the page. */
import { render } from "preact";
import { App } from "./app.tsx";
import "./tokens.css";
import "./page.css";
import "./views.css";

const root = document.getElementById("app");
if (root !== null) render(<App />, root);
