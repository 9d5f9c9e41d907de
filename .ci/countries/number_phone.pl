#!/usr/bin/env perl
# Writes the British blocks in Debian's libnumber-phone-perl as "block<TAB>holder<TAB>length", such as
# "2920123<TAB>BT<TAB>2+8".
use strict;
use warnings;
use Number::Phone::UK::Data;

binmode(STDOUT, ":encoding(UTF-8)");
my $data = Number::Phone::UK::Data::db();
my %formats = map { $_ => [@{$data->{telco_format}->{$_}}{qw(telco format)}] } keys %{$data->{telco_format}};
my $codes = $data->{telco_and_length};
for my $block (keys %$codes) {
    print join("\t", $block, map { $_ // "" } @{$formats{$codes->{$block}}}), "\n";
}
