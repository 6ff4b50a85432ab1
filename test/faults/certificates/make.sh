#!/bin/sh
# Makes the certificates of test/faults/hostile-service.test.ts anew, in this folder, with OpenSSL 3: sh make.sh
# They open nothing: the service's key is public by being here, and the authority's is thrown away.
set -e
new=$(mktemp -d)
cat > "$new/ca.cnf" <<CNF
[ca]
default_ca = authority
[authority]
database = $new/index
new_certs_dir = $new
rand_serial = yes
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
CNF
: > "$new/index"
openssl ecparam -name prime256v1 -genkey -noout -out "$new/authority.key"
openssl ecparam -name prime256v1 -genkey -noout -out service.key
request() { # name, key, extensions
  openssl req -new -key "$2" -subj "/CN=$1" -addext "$3" -out "$new/$1.csr"
}
issue() { # name, key, subject alternative name, first day, last day, options
  request "$1" "$2" "$3"
  first=$4 last=$5 name=$1
  shift 5
  openssl ca -batch -notext -config "$new/ca.cnf" -in "$new/$name.csr" -out "$name.pem" \
    -startdate "${first}000000Z" -enddate "${last}000000Z" "$@"
}
by_authority="-cert authority.pem -keyfile $new/authority.key"
issue authority "$new/authority.key" "basicConstraints=critical,CA:TRUE" 20200101 21200101 -selfsign -keyfile "$new/authority.key"
issue good service.key subjectAltName=IP:127.0.0.1 20200101 21200101 $by_authority
issue expired service.key subjectAltName=IP:127.0.0.1 20200101 20200201 $by_authority
issue other-host service.key subjectAltName=DNS:other.example 20200101 21200101 $by_authority
rm -r "$new"
