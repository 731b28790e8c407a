// csp.js - loads the library in a page with a content security policy. The title
// becomes the result.
import { Filter, load } from "../bloomery.js";

try {
    await load("sets");
    document.title = `${new Filter("blocked", { items: 10 }).add("a")}`;
} catch (error) {
    document.title = error.name;
}
