// book.mjs - the order of the pages: the left navigation, breadcrumbs, and the
// page before and after. The order of the book is that of docs/README.md.
import { escape } from "./code.mjs";

// Returns the sections of a table of contents: [{ title, items }], where an item
// is { title, source }, a path of the tree. Entries before the first heading are
// sections of their own.
export function sectionsOf(markdown) {
    const sections = [];
    let last = null;
    for (const line of markdown.split("\n")) {
        const heading = /^## (.*)$/.exec(line);
        const entry = /^- \[(.*)\]\(([^)#]*)\)$/.exec(line);
        if (heading)
            sections.push(last = { title: heading[1], items: [], book: true });
        if (!entry)
            continue;
        const item = { title: entry[1], source: `docs/${entry[2]}` };
        if (last)
            last.items.push(item);
        else
            sections.push({ title: entry[1], items: [item], book: true });
    }
    return sections;
}

// The navigation of a site whose sections are [{ title, page, items, book }],
// each item { title, page, group }; `page` may end in "#place". The items of a
// section of the book are on every page, those of others on their own pages only.
export class Book {
    constructor(sections, relative) {
        this.sections = sections;
        this.relative = relative;
        this.flows = [sections.filter((section) => section.book)
            .flatMap((section) => section.items)];
        for (const section of sections.filter(({ book }) => !book))
            this.flows.push(section.items);
    }

    // The section that a page is in, if any.
    sectionOf(page) {
        return this.sections.find((section) =>
            section.items.some((item) => item.page === page)) ??
            this.sections.find((section) => section.page === page);
    }

    // The short title of a page, if it is in the navigation.
    titleOf(page) {
        return this.sectionOf(page)?.items.find((item) =>
            item.page === page)?.title;
    }

    link(page, item) {
        const here = item.page === page ? ' aria-current="page"' : "";
        return `<a href="${escape(this.relative(page, item.page))}"${here}>` +
            `${escape(item.title)}</a>`;
    }

    items(page, items) {
        const groups = new Map();
        for (const item of items)
            groups.set(item.group, [...groups.get(item.group) ?? [], item]);
        return "<ul>\n" + [...groups].map(([group, all]) => {
            const list = all.map((item) =>
                `<li>${this.link(page, item)}</li>\n`).join("");
            return group ? `<li><span class="group">${escape(group)}</span>\n` +
                `<ul>\n${list}</ul></li>\n` : list;
        }).join("") + "</ul>";
    }

    navigation(page) {
        const at = this.sectionOf(page);
        const list = this.sections.map((section) => {
            if (section.items.length === 1 && section.book)
                return `<li>${this.link(page, section.items[0])}</li>\n`;
            if (!section.book)
                return `<li>${this.link(page, section)}` +
                    `${section === at ? this.items(page, section.items) : ""}` +
                    "</li>\n";
            return `<li><details${section === at ? " open" : ""}><summary>` +
                `${escape(section.title)}</summary>\n` +
                `${this.items(page, section.items)}</details></li>\n`;
        });
        return '<nav class="book" aria-label="Contents"><details>\n' +
            `<summary>Contents</summary>\n<ul>\n${list.join("")}</ul></details>` +
            "</nav>\n";
    }

    crumbs(page, title) {
        const section = this.sectionOf(page);
        const above = [{ title: "Bloomery", page: "index.html" }];
        if (section && section.page !== page && section.title !== title)
            above.push(section);
        return '<nav class="crumbs" aria-label="Breadcrumb"><ol>\n' +
            above.map((one) => `<li>${this.link(page, one)}</li>\n`).join("") +
            `<li aria-current="page">${escape(title)}</li>\n</ol></nav>\n`;
    }

    turn(page) {
        for (const flow of this.flows) {
            const i = flow.findIndex((item) => item.page === page);
            if (i < 0 || flow.length < 2)
                continue;
            const side = (item, rel, text) => item
                ? `<a rel="${rel}" href="${escape(this.relative(page,
                    item.page))}"><span>${text}</span> ` +
                  `${escape(item.title)}</a>\n` : "";
            return '<nav class="turn" aria-label="Previous and next">\n' +
                side(flow[i - 1], "prev", "Previous") +
                side(flow[i + 1], "next", "Next") + "</nav>\n";
        }
        return "";
    }
}
