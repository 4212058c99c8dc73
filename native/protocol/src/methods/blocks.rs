//! Content blocks as a revision knows them.

use std::borrow::Cow;

use memchr::memmem;
use serde_json::Value;

use crate::revision::Revision;

/// A JSON array of content blocks, or of messages with one each, for clients of `revision`: 2025-06-18 knows no icons
/// of resource links (requirement ICON-1). What the text does not hold costs a search for it, and no more.
pub(crate) fn for_revision(json: &[u8], revision: Revision) -> Cow<'_, [u8]> {
    if revision != Revision::R20250618 || memmem::find(json, br#""icons""#).is_none() {
        return Cow::Borrowed(json);
    }
    match serde_json::from_slice::<Vec<Value>>(json) {
        Ok(mut items) => {
            items.iter_mut().for_each(drop_icons);
            Cow::Owned(Value::Array(items).to_string().into_bytes())
        }
        // Nested deeper than this parser goes: sent as the host made it.
        Err(_) => Cow::Borrowed(json),
    }
}

/// From a block, or from the block of a message.
fn drop_icons(item: &mut Value) {
    let block = match item.get("role") {
        Some(_) => &mut item["content"],
        None => item,
    };
    if block["type"] == "resource_link"
        && let Some(members) = block.as_object_mut()
    {
        members.shift_remove("icons");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(json: &str, revision: Revision) -> String {
        let json = for_revision(json.as_bytes(), revision);
        String::from_utf8(json.into_owned()).expect("JSON is UTF-8")
    }

    #[test]
    fn links_lose_icons_where_no_revision_had_them() {
        let link = r#"[{"type":"resource_link","uri":"a:b","name":"n","icons":[]}]"#;
        let bare = r#"[{"type":"resource_link","uri":"a:b","name":"n"}]"#;
        assert_eq!(written(link, Revision::R20250618), bare);
        assert_eq!(written(link, Revision::R20251125), link);
        assert_eq!(written(link, Revision::R20260728), link);
        let message = |block: &str| {
            format!(
                r#"[{{"role":"user","content":{}}}]"#,
                &block[1..block.len() - 1]
            )
        };
        assert_eq!(written(&message(link), Revision::R20250618), message(bare));
    }

    #[test]
    fn what_is_the_hosts_own_stays() {
        let text = r#"[{"type":"text","text":"\"icons\"","_meta":{"icons":123456789012345678901234567890}}]"#;
        assert_eq!(written(text, Revision::R20250618), text);
    }
}
