//! The operators of RFC 6570 levels 1 to 3.

/// How the variables of an expression are written into a URI.
#[derive(Debug)]
pub(crate) struct Operator {
    /// What the expression starts with; simple expansion has no sign.
    pub(crate) sign: Option<u8>,
    /// What an expansion starts with.
    pub(crate) first: &'static str,
    /// What stands between two variables.
    pub(crate) separator: u8,
    /// How values are written.
    pub(crate) form: Form,
}

/// How an operator writes values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    /// Reserved characters are encoded.
    Simple,
    /// Reserved characters stand as they are.
    Reserved,
    /// `name=value`, reserved characters are encoded.
    Named,
}

impl Operator {
    /// The operator that an expression with this first character has.
    pub(crate) fn of(first: Option<u8>) -> &'static Self {
        OPERATORS
            .iter()
            .find(|operator| operator.sign.is_some() && operator.sign == first)
            .unwrap_or(&SIMPLE)
    }
}

const SIMPLE: Operator = Operator::new(None, "", b',', Form::Simple);

/// RFC 6570 appendix A.
static OPERATORS: [Operator; 7] = [
    Operator::new(Some(b'+'), "", b',', Form::Reserved),
    Operator::new(Some(b'#'), "#", b',', Form::Reserved),
    Operator::new(Some(b'.'), ".", b'.', Form::Simple),
    Operator::new(Some(b'/'), "/", b'/', Form::Simple),
    Operator::new(Some(b';'), ";", b';', Form::Named),
    Operator::new(Some(b'?'), "?", b'&', Form::Named),
    Operator::new(Some(b'&'), "&", b'&', Form::Named),
];

impl Operator {
    const fn new(sign: Option<u8>, first: &'static str, separator: u8, form: Form) -> Self {
        Self {
            sign,
            first,
            separator,
            form,
        }
    }
}

/// Signs that RFC 6570 section 2.2 keeps for later.
pub(crate) const KEPT_SIGNS: &[u8] = b"=,!@|";
